{
    echo "this is no JSON"
    echo "{\"task\": \"black_scholes\"}"
    echo "{\"task\": \"blak_scholes\", \"source\": \"\", \"id\": \"a\"}"
    echo "{\"task\": \"black_scholes\", \"source\": \"int x;\", \"language\": \"rust\"}"
    echo "{\"task\": \"black_scholes\", \"source\": \"int x;\", \"id\": 7}"
    echo "[]"
} | acceleval eval - 2>errors
echo "exit $?"
for language in c cpp c++; do # the last is the old word for the second
    echo "{\"task\": \"black_scholes\", \"source\": \"int x;\", \"language\": \"$language\"}"
done | acceleval eval - --seed 1 2>errors | grep -o '"verdict":"[a-z_]*"'
