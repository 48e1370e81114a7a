# How far it is, while answers are made on all cores and while baselines are timed alone.
export ACCELEVAL_CACHE=$PWD/cache ACCELEVAL_BANK=$PWD/bank
acceleval prepare --task black_scholes --timed 1 --dry-run | sed 's/some .*/some/'
acceleval prepare --task black_scholes --timed 1 >printed 2>progress
sed 's/after .*/after/' printed | tail -1
sed -n 's/^\(3 of 3 answers\)[^;]*$/\1/p; s/^\([0-9]* of [0-9]* baselines\).*\(; black_scholes small\)$/\1\2/p' progress
grep -q '^[0-9]* of [0-9]* answers.*; black_scholes small: the reference on ' progress && echo "and what is being made"
acceleval prepare --task black_scholes --timed 1
