// The page's libraries: scripts/install-web.sh lays them beside llama.cpp, with a hearth-web.pc. Sources/CPage embeds them.
#pragma once
