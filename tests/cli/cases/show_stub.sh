acceleval show black_scholes --stub
