# A layer that is missing is named and ends the invocation; without the option the record tells that nothing is proved.
export ACCELEVAL_WITHOUT=landlock
acceleval-unguarded eval "$PROGRAMS/right.c" --task black_scholes --seed 7 --quick --require-sandbox 2>&1 | grep -o -- "--require-sandbox:.*landlock"
acceleval-unguarded eval "$PROGRAMS/right.c" --task black_scholes --seed 7 --quick --json 2>/dev/null | grep -c proved
