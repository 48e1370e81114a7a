{
    echo "this is no JSON"
    echo "{\"task\": \"black_scholes\"}"
    echo "{\"task\": \"blak_scholes\", \"source\": \"\", \"id\": \"a\"}"
    echo "{\"task\": \"black_scholes\", \"source\": \"int x;\", \"language\": \"rust\"}"
    echo "{\"task\": \"black_scholes\", \"source\": \"int x;\", \"id\": 7}"
    echo "[]"
} | acceleval eval - 2>errors
