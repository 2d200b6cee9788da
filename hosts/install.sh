#!/usr/bin/env bash
# install.sh CHECKOUT FOLDER: kumamigrate and what it needs into FOLDER, each file by its hash.
set -euo pipefail
checkout=$1
folder=$2
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "kumamigrate: Python 3.11 or newer is needed, this is $(python3 --version); see actions/setup-python" >&2
  exit 2
}
[ -x "$folder/kumamigrate" ] && exit 0
pip=(python3 -m pip --quiet --disable-pip-version-check --no-input install --target "$folder/lib")
"${pip[@]}" --require-hashes --requirement "$checkout/requirements/run.lock"
PYTHONPATH="$folder/lib" "${pip[@]}" --no-deps --no-build-isolation "$checkout"
cat > "$folder/kumamigrate" <<SCRIPT
#!/usr/bin/env bash
PYTHONPATH="$folder/lib" exec python3 -m kumamigrate "\$@"
SCRIPT
chmod +x "$folder/kumamigrate"
