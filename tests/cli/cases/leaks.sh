acceleval eval "$PROGRAMS/leaks.c" --task black_scholes --json 2>/dev/null | grep -o '"verdict":"[a-z]*"\|"leaks"'
acceleval eval "$PROGRAMS/leaks.c" --task black_scholes 2>/dev/null
