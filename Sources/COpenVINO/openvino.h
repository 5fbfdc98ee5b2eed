// The headers of OpenVINO: scripts/install-vision.sh lays them into the cache, with a hearth-vision.pc. Sources/CVision uses them.
