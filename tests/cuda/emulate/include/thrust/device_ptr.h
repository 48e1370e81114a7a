#include "thrust.h"
