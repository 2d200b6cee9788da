"use strict";
for (const picture of document.querySelectorAll("section.mesh")) {
  const nodes = [...picture.querySelectorAll(".node")];
  const lines = [...picture.querySelectorAll(".line")];
  const search = picture.querySelector("input[type=search]");
  const chosen = picture.querySelector(".chosen");
  const hint = chosen.textContent;
  let picked = null;
  const isPolicy = (node) => node.classList.contains("policy");
  const numbers = (node, side) => new Set(node.dataset[side].split(" ").filter(Boolean));
  const side = () => picture.querySelector("input[type=radio]:checked").value;
  const reached = (node) => {
    const [before, after] = [numbers(node, "before"), numbers(node, "after")];
    if (side() === "before") return before;
    return side() === "after" ? after : new Set([...before, ...after]);
  };
  const title = (node) => node.querySelector("title").textContent.split("\n")[0];
  const tell = () => {
    if (!picked) { chosen.textContent = hint; return; }
    const [before, after] = [numbers(picked, "before"), numbers(picked, "after")];
    const others = nodes.filter((node) => isPolicy(node) !== isPolicy(picked));
    const said = picked.querySelector("title").textContent.split("\n");
    said.push(isPolicy(picked) ? "reaches:" : "is reached by:");
    let count = 0;
    for (const node of others) {
      const at = node.dataset.at;
      if (!before.has(at) && !after.has(at)) continue;
      const how = before.has(at) ? (after.has(at) ? "" : "   no longer") : "   from now on";
      said.push("  " + title(node) + how);
      count += 1;
    }
    if (!count) said.push("  nobody");
    chosen.textContent = said.join("\n");
  };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (node) => words.every((word) => node.dataset.words.includes(word));
    const near = picked ? reached(picked) : new Set();
    for (const node of nodes) {
      const mine = node === picked;
      const close = picked && isPolicy(node) !== isPolicy(picked) && near.has(node.dataset.at);
      node.classList.toggle("picked", mine);
      node.classList.toggle("near", Boolean(close));
      node.classList.toggle("dimmed", picked ? !(mine || close) : !fits(node));
    }
    const matching = new Set(words.length ? nodes.filter(fits) : []);
    const key = (node) => (isPolicy(node) ? "p" : "x") + node.dataset.at;
    const keys = new Set([...matching].map(key));
    for (const line of lines) {
      const ends = ["p" + line.dataset.policy, "x" + line.dataset.proxy];
      const own = picked && ends.includes(key(picked));
      line.classList.toggle("picked", Boolean(own));
      line.classList.toggle("dimmed", picked ? !own : words.length > 0 && !ends.some((end) => keys.has(end)));
      const gone = line.classList.contains("gone") && side() === "after";
      const coming = line.classList.contains("new") && side() === "before";
      line.classList.toggle("hidden", gone || coming);
    }
    if (words.length && !picked) {
      const first = nodes.find(fits);
      if (first) first.scrollIntoView({ block: "nearest" });
    }
    tell();
  };
  for (const node of nodes) {
    const pick = () => { picked = picked === node ? null : node; show(); };
    node.addEventListener("click", pick);
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } });
  }
  search.addEventListener("input", () => { picked = null; show(); });
  for (const radio of picture.querySelectorAll("input[type=radio]")) radio.addEventListener("change", show);
  picture.querySelector(".tools").classList.remove("hidden");
}
