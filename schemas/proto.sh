#!/bin/sh
# The schema's tools, without network.
#   generate   format the .proto files and write the Python classes
#   check      lint, format, compatibility with baseline.binpb, generated code is fresh
#   baseline   publish the schema as it stands: from then on `check` protects its new fields too
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH BUF_CACHE_DIR="${BUF_CACHE_DIR:-$PWD/.cache/buf}"
GENERATED=libs/bronze/src/lakehouse

fresh_copy() {
    buf generate schemas --template schemas/buf.gen.yaml -o "$1"
}

case "${1:-}" in
generate)
    buf format -w schemas
    fresh_copy .
    ;;
check)
    buf lint schemas
    buf format --diff --exit-code schemas
    buf breaking schemas --against schemas/baseline.binpb
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    fresh_copy "$fresh"
    diff -r -x py.typed -x __pycache__ "$fresh/$GENERATED" "$GENERATED" || {
        echo "generated code is stale: run 'make proto'" >&2
        exit 1
    }
    ;;
baseline)
    buf build schemas --as-file-descriptor-set --exclude-source-info -o schemas/baseline.binpb
    ;;
*)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
