# A run that is killed loses no finished measurement, and --resume makes only the rest.
mkdir bob
for k in 1 2 3 4; do sed "1s/.*/\/\/ copy $k/" "$PROGRAMS/right.c" > bob/black_scholes.$k.c; done
: > first
acceleval eval bob --seed 3 --quick > first 2>errors &
tries=0
while [ "$(wc -l < first)" -lt 2 ] && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -9 $!
wait $! 2>/dev/null
acceleval eval bob --seed 3 --quick --resume > second 2>errors
there=$(sed -n 's/.*passed, \([0-9]*\) there already.*/\1/p' second)
made=$(grep -c ' pass ' second)
[ "$there" -ge 2 ] && [ $((there + made)) -eq 4 ] && echo "nothing lost, nothing made twice"
