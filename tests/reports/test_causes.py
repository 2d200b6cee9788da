"""Sentences of one cause are said once, with the names that they differ in."""

from __future__ import annotations

from kumamigrate.report.screen.causes import heaped, sentences


def test_two_names_are_both_said() -> None:
    assert sentences(
        ["MeshTimeout a is refused by 3.0 here", "MeshTimeout b is refused by 3.0 here"]
    ) == ["MeshTimeout a, b is refused by 3.0 here"]


def test_of_more_names_the_first_are_said() -> None:
    said = [f"the route {name} has no service that is known" for name in "abcd"]
    assert sentences(said) == ["the route a, b, … has no service that is known"]


def test_marks_around_a_name_are_said_once() -> None:
    said = [f"it has (outbound to {name}): with none nothing changes" for name in ("x", "y")]
    assert sentences(said) == ["it has (outbound to x, y): with none nothing changes"]


def test_what_is_too_long_for_a_line_is_left_out() -> None:
    one, two = (f"https://{letter * 40}.example/" for letter in "ab")
    said = [f"nobody knows {place} in this mesh here" for place in (one, two)]
    assert sentences(said) == [f"nobody knows {one}, … in this mesh here"]
    said = [f"nobody knows {place * 2} in this mesh here" for place in (one, two)]
    assert sentences(said) == ["nobody knows … in this mesh here"]


def test_sentences_below_each_other_stay_apart() -> None:
    """A name at the end of a line leaves the next line where it is."""
    said = [f"it names {name}\nwrite the labels of it, for 3.0" for name in ("x", "y")]
    (heap,) = heaped(said, str)
    assert heap.said == "it names x, y\nwrite the labels of it, for 3.0"


def test_other_words_make_another_cause() -> None:
    said = ["the mesh has no identity", "the mesh wants another mode"]
    assert sentences(said) == said


def test_what_a_template_names_is_one_word() -> None:
    said = [f"it is {name}-{{{{ item }}}} inside of another object" for name in ("a", "b")]
    assert sentences(said) == ["it is a-{{ item }}, b-{{ item }} inside of another object"]


def test_values_are_no_names() -> None:
    said = [f"for the clients known: rules: [{{default: {{allow: [{name}]}}}}]" for name in "ab"]
    assert sentences(said) == said
