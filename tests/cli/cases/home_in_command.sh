# What travels in an archive names no home folder.
mkdir -p "$HOME/mine"
cp "$PROGRAMS/right.c" "$HOME/mine/black_scholes.c"
acceleval eval "$HOME/mine/black_scholes.c" --entrant=me --quick --seed 1 >/dev/null 2>&1
acceleval export --out archive >/dev/null
grep -c "$HOME" archive
grep -o 'acceleval eval [^"]*' archive
HOME=$HOME/min acceleval eval "$HOME/mine/black_scholes.c" --quick --seed 2 >/dev/null 2>&1
acceleval export --run 2 | grep -o 'acceleval eval [^"]*'
