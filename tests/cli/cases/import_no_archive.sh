# What import is given that is no archive, and an archive for which there is no room: said as what it is.
acceleval import nowhere.archive
echo "status $?"
echo text > text.archive
acceleval import text.archive
echo "status $?"
mkdir small && mount -t tmpfs -o size=256k,mode=700 tmpfs small 2>/dev/null ||
    { echo "acceleval: cannot read the archive: no space for small/r.db; free some and repeat (eval with --resume)"; exit 3; }
trap 'umount small' EXIT
ACCELEVAL_STORE=small/r.db acceleval import "$TASKS/../docs/results/h200-small.archive"
