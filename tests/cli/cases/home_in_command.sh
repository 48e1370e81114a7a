# What travels in an archive names no home folder.
mkdir -p "$HOME/work"
cp "$PROGRAMS/right.c" "$HOME/work/black_scholes.c"
acceleval eval "$HOME/work/black_scholes.c" --entrant=me --quick --seed 1 >/dev/null 2>&1
acceleval export --out archive >/dev/null
grep -c "$HOME" archive
grep -o 'acceleval eval [^"]*' archive
HOME=$HOME/wor acceleval eval "$HOME/work/black_scholes.c" --quick --seed 2 >/dev/null 2>&1
acceleval export --run 2 | grep -o 'acceleval eval [^"]*'
