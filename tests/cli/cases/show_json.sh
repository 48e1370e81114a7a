acceleval show black_scholes --json
