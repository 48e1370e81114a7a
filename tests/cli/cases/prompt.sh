acceleval prompt black_scholes --level L2 | head -40
