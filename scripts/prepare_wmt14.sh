#!/bin/sh
# Downloads and prepares WMT14 English-German for --dataset=wmt14:
#     sh scripts/prepare_wmt14.sh [DATA_DIR]
# About 1.7 GB of archives, as much again while they are unpacked, 1.3 GB of records in the end.
set -u
case ${1:-} in
-h | --help)
    sed -n '1d; /^#/!q; s/^# \{0,1\}//; p' "$0"
    exit 0
    ;;
-*)
    echo "prepare_wmt14.sh: $1 is no directory; name one, or see --help" >&2
    exit 2
    ;;
esac
data_dir=${1:-${TFDS_DATA_DIR:-$HOME/tensorflow_datasets}}
case $data_dir in
/*) ;;
*) data_dir=$PWD/$data_dir ;;
esac
cd "$(dirname "$0")/.." || exit 1
python=.venv/bin/python
if ! [ -x "$python" ]; then
    echo "prepare_wmt14.sh: there is no .venv here; make it with: make venv" >&2
    exit 2
fi

TF_CPP_MIN_LOG_LEVEL=3 "$python" - "$data_dir" <<'END'
import pathlib
import socket
import sys

ARCHIVES = (
    "training-parallel-europarl-v7.tgz",
    "training-parallel-commoncrawl.tgz",
    "training-parallel-nc-v9.tgz",
    "dev.tgz",
)
at_hand = pathlib.Path(sys.argv[1], "downloads", "manual")
if not all((at_hand / name).exists() for name in ARCHIVES):
    try:  # downloading would try ten times
        socket.create_connection(("www.statmt.org", 80), timeout=20).close()
    except OSError as error:
        sys.exit(f"prepare_wmt14.sh: www.statmt.org cannot be reached: {error}")

import tensorflow_datasets as tfds

builder = tfds.builder("wmt14_translate/de-en", data_dir=sys.argv[1])
try:
    builder.download_and_prepare()
except Exception as error:  # whatever it is, the way out below is the same
    sys.exit(f"prepare_wmt14.sh: {type(error).__name__}: {error}")
END
if [ $? -eq 0 ]; then
    echo "prepared; train on it with: .venv/bin/python train.py --dataset=wmt14 --data_dir=$data_dir"
    exit 0
fi

cat >&2 <<END

Where there is no network, fetch these four archives on another machine:
    http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz     658 MB
    http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz     918 MB
    http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz            80 MB
    http://data.statmt.org/wmt19/translation-task/dev.tgz              39 MB
put them, as they are, into
    $data_dir/downloads/manual/
and call this script again: it takes what it finds there. Or unpack them and train on the files:
    --dataset=files --src_file_name='training/*.de-en.en,commoncrawl.de-en.en' \\
                    --tgt_file_name='training/*.de-en.de,commoncrawl.de-en.de'
END
exit 1
