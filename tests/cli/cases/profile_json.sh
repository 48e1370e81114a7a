# The phases of a real call add up to it.
acceleval profile "$PROGRAMS/right.c" --task black_scholes --json --trace trace.json 2>errors >profile.json
echo "exit $?"
awk '$1 == "\"call_ns\":" { call = $2 + 0 } $1 == "\"ns\":" { sum += $2 }
     END { print (call > 0 && sum == call) ? "the phases add up" : "they do not" }' profile.json
grep -o '"phase": "[a-z]*"' profile.json
grep -o '"name":"solution_compute"' trace.json
