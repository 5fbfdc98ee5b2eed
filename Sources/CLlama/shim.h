#pragma once
#include <ggml-backend.h>
#include <llama.h>
