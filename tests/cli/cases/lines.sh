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
# Sources and lines that no program needs are refused, and the next line is read.
{
    for megabytes in 9 34; do
        printf '{"task": "black_scholes", "id": "%s", "source": "' $megabytes
        head -c ${megabytes}000000 /dev/zero | tr '\0' ' '
        echo '"}'
    done
    printf '{"task": "black_scholes", "id": "last", "source": "int x;", "language": "c"}' # without an end
} | acceleval eval - --seed 1 2>errors | sed 's/,"task".*"verdict"/,"verdict"/; s/,"compile_ns".*//'
