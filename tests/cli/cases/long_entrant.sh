# An entrant's name is kept whole or not taken: cut, two folders would be one entrant. 'check' keeps nothing.
name=$(printf '%070d' 7)
mkdir "${name}a" "${name}b"
cp "$PROGRAMS/right.c" "${name}a/black_scholes.c"
cp "$PROGRAMS/zeros.c" "${name}b/black_scholes.c"
acceleval eval "${name}a" "${name}b" --quick 2>&1
echo "status $?"
acceleval eval "${name}a" --quick --entrant "${name}" 2>&1
echo "status $?"
acceleval eval "${name}a" --quick --entrant short --json 2>errors | grep -o '"entrant":"[^"]*"'
mkdir "$(printf 'a\377b')"
cp "$PROGRAMS/right.c" "$(printf 'a\377b')/black_scholes.c"
acceleval eval "$(printf 'a\377b')" --quick --json 2>&1
echo "status $?"
acceleval check "${name}a" 2>errors
