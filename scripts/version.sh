#!/bin/sh
# Prints the version: CMakeLists.txt is the only place that has it.
sed -n 's/^project(dploc VERSION \([0-9.]*\).*/\1/p' "$(dirname "$0")/../CMakeLists.txt"
