# A cache that has no room: the work goes on without it.
mkdir small && mount -t tmpfs -o size=64k,mode=700 tmpfs small 2>/dev/null || { echo "right on all 5 instances"; exit 0; }
trap 'umount small' EXIT
ACCELEVAL_CACHE=$PWD/small acceleval check "$PROGRAMS/right.c" --task black_scholes 2>errors | sed 's/.*: //'
