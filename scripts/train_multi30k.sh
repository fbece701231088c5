#!/bin/sh
# Trains on Multi30k and translates its test set of 2016:
#
#     sh scripts/train_multi30k.sh DIR [flags of train.py]
#
# DIR has train, val and test_2016_flickr, each as .en and .de. The model, its learning curve and
# results.json come into $OUT, or runs/multi30k; a run that was broken off goes on there.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
-h | --help)
    sed -n '1d; /^#/!q; s/^# \{0,1\}//; p' "$0"
    exit 0
    ;;
-*)
    echo "train_multi30k.sh: $1 is no directory; name one before all flags, or see --help" >&2
    exit 2
    ;;
esac
if [ $# -eq 0 ]; then
    echo "train_multi30k.sh: name the directory with train.en, train.de and so on" >&2
    exit 2
fi
data=$1
shift
for name in train val test_2016_flickr; do
    for side in en de; do
        if ! [ -r "$data/$name.$side" ]; then
            echo "train_multi30k.sh: $data/$name.$side cannot be read; name another directory" >&2
            exit 2
        fi
    done
done
for flag in "$@"; do
    case $flag in
    -output_dir* | --output_dir* | -results_file* | --results_file*)
        echo "train_multi30k.sh: $flag would lead elsewhere than what is judged; give OUT=DIR" >&2
        exit 2
        ;;
    esac
done
if ! [ -x "$root/.venv/bin/python" ]; then
    echo "train_multi30k.sh: there is no .venv in $root; make it with: make venv" >&2
    exit 2
fi
out=${OUT:-runs/multi30k}
mkdir -p "$out"
export PYTHONPATH="$root"
"$root/.venv/bin/python" "$root/train.py" --flagfile="$root/presets/multi30k.flags" \
    --src_file_name="$data/train.en" --tgt_file_name="$data/train.de" \
    --dev_src_file_name="$data/val.en" --dev_tgt_file_name="$data/val.de" \
    --output_dir="$out" --results_file="$out/results.json" "$@"
if tail -n 1 "$out/results.json" | grep -q '"ending": "broken_off"'; then
    echo "train_multi30k.sh: training was broken off; the same command goes on" >&2
    exit 1
fi
"$root/.venv/bin/python" -m nmt.evaluate --model="$out" --beam_width=5 \
    --src="$data/test_2016_flickr.en" --ref="$data/test_2016_flickr.de" \
    --results_file="$out/results.json"
