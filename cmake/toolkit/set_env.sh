# SPDX-License-Identifier: Apache-2.0
# source set_env.sh: points build scripts and loaders at this prefix. For bash and zsh.
if [ -n "${BASH_SOURCE:-}" ]; then
  _sfmla_script="${BASH_SOURCE[0]}"
else
  _sfmla_script="${(%):-%x}"
fi
ASCEND_HOME_PATH="$(cd "$(dirname "$_sfmla_script")" && pwd)"
export ASCEND_HOME_PATH
export ASCEND_TOOLKIT_HOME="$ASCEND_HOME_PATH"
export ASCEND_OPP_PATH="$ASCEND_HOME_PATH/opp"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CMAKE_PREFIX_PATH="$ASCEND_HOME_PATH${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
export PKG_CONFIG_PATH="$ASCEND_HOME_PATH/lib64/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
unset _sfmla_script
