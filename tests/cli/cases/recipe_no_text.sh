# A recipe is words: of a binary file only what stands before its first NUL would reach the model.
printf 'sort the edges first\0and this is lost\n' >nul
printf 'sort \377\376 the edges\n' >bytes
acceleval prompt bellman_ford --with-recipe nul | tail -n 3
acceleval prompt bellman_ford --control-for bytes | tail -n 3
printf 'sort the edges first\n' >words
acceleval prompt bellman_ford --with-recipe words | tail -n 3
