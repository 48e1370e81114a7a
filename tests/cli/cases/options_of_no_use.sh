# What an option cannot do here is said: an error where the user would otherwise believe that it was done, else a note.
cp "$PROGRAMS/right.c" black_scholes.c
acceleval show black_scholes --stub >black_scholes.cu
try() {
    status=0
    acceleval "$@" >printed 2>errors || status=$?
    echo "$status: $(grep -v 'lists the options' errors | tail -1)"
}
echo "errors"
try eval black_scholes.c --entrant me,you
try eval black_scholes.c --target cuda
try eval black_scholes.c --device one
try eval black_scholes.c --device 1,01
try eval black_scholes.c --device 0,1,2,3,4,5,6,7,8
try eval black_scholes.c --seed 0
try eval black_scholes.c -
for option in '--size large' '--task black_scholes' '--entrant me' '--target cpu' --resume --stop-on-fail --profile '--jobs 2'; do
    try eval - $option </dev/null
done
try profile black_scholes.c --ncu
try profile black_scholes.c --sanitize
try profile black_scholes.c --checks memcheck
try profile black_scholes.c --sanitize --checks lint
try show black_scholes --language c
try show black_scholes --reference --statement
try repro black_scholes.c --family tiny --instance 1
try repro black_scholes.c --size large --instance 1
try prompt --hash --level L1
try prepare --full --timed 4
try report --json --format csv
try compare a b --format svg
try history a --format svg
try strategies list --binary
try strategies show M03 --task black_scholes
try strategies attribute --format md
try strategies find black_scholes.cu --arch sm_90
try cache show --max 3
try cache export file --kind object
echo "notes"
note() {
    acceleval "$@" >printed 2>errors || echo "exit $?"
    grep -o 'note: .*' errors || echo "no note of $*"
}
note check black_scholes.c --device 3 --arch sm_80
note profile black_scholes.c --arch sm_80
note profile black_scholes.c --json --most 2
note eval black_scholes.c --entrant me --device 3 --quick --seed 1
note prompt black_scholes --language c --device 'a GPU'
note report --format svg --detail
note report --format csv --baseline me
