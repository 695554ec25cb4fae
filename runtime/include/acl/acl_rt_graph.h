/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: work of one or several streams, recorded once and replayed as often as wanted. Part of
 * acl_rt.h, which includes this header.
 *
 *     aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
 *     ...                                       // phase twos, copies: recorded, not run
 *     aclmdlRI graph = NULL;
 *     aclmdlRICaptureEnd(stream, &graph);
 *     for (...) aclmdlRIExecuteAsync(graph, stream);
 *     aclrtSynchronizeStream(stream);
 *     aclmdlRIDestroy(graph);
 *
 * What a graph holds. Addresses and attributes are those of the capture; what lies in device memory
 * (lengths, tables, indices, metadata, operands) is read anew by each replay, so it may be changed
 * in place between two. Descriptors and executors may be destroyed inside the capture: a captured
 * phase two consumes its executor. Device memory, workspaces included, stays valid until the last
 * replay is done.
 *
 * What can be captured: phase two of operators, aclrtMemcpyAsync between device and pinned memory,
 * aclrtMemsetAsync, aclrtLaunchHostFunc, and events. Phase one, aclrtMalloc and aclrtFree run at
 * once, as always. A call that is refused leaves the capture as it is, except for events.
 *
 * Several streams. An event made with aclrtCreateEventExWithFlag and recorded on a captured stream
 * makes every stream that waits for it join the capture, until the end. Before that, each of them
 * records an event behind its last work, and the stream of the capture waits for it. Such events
 * are edges of the graph; replays do not reach them. Errors, each of which invalidates the capture
 * (CaptureEnd answers 507903): waiting on a captured stream for a record outside the capture
 * 107024, for a record of another capture 107032, using a plain event 207000. A default stream
 * cannot join: 107031. An Ex event that was never recorded does not wait, as always.
 *
 * Events made with ACL_EVENT_EXTERNAL link a graph with streams outside: a captured record is made
 * by each replay; a captured wait waits, in each replay, until the event has been recorded and not
 * been reset since (aclrtResetEvent, which can be captured too).
 *
 * A replay runs the work in capture order, except that work of another captured stream may overtake
 * a wait for an external event. It is one piece of work of its stream; the errors of its parts are
 * errors of that stream, and the stream's failure mode decides what they skip.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_GRAPH_H_
#define INC_EXTERNAL_ACL_ACL_RT_GRAPH_H_

#include <stdint.h>

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Which calls that run at once a capture forbids while it goes on: aclrtMemcpy, aclrtMemcpyBatch
// and aclrtMemset (107030) and copies of pageable memory on other streams (107041), all of the same
// context. GLOBAL: those of every thread whose own mode is GLOBAL (the mode threads begin with),
// and of the thread that began the capture. THREAD_LOCAL: those of that thread only. RELAXED: none.
// A thread whose own mode is RELAXED is always allowed.
typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

// Kind of a node; no function of this version takes it.
typedef enum aclmdlRITaskType {
  ACL_MODEL_RI_TASK_DEFAULT = 0,
  ACL_MODEL_RI_TASK_KERNEL = 1,
  ACL_MODEL_RI_TASK_EVENT_RECORD = 2,
  ACL_MODEL_RI_TASK_EVENT_WAIT = 3,
  ACL_MODEL_RI_TASK_EVENT_RESET = 4,
  ACL_MODEL_RI_TASK_VALUE_WRITE = 5,
  ACL_MODEL_RI_TASK_VALUE_WAIT = 6
} aclmdlRITaskType;

// --------------------------------------------------------------------------------------- capture

// From now on work that is queued on the stream is recorded. 100000: stream NULL. 207000: a default
// stream. 107000: no such mode. 107027: captured already. 107005: a task group is updated on it.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

// What is captured: status, and the graph that CaptureEnd will give out (NULL without a capture).
// Either pointer may be NULL. 100000: both are.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

// Ends the capture; all its streams queue again. 100000: stream NULL. 107000: modelRI NULL. 107029:
// not captured. 107036: the capture was begun on another stream, and goes on. From here on there is
// no graph, *modelRI is NULL and the capture is over: 107038 called by another thread than the one
// that began, in a mode other than RELAXED; 507903 invalidated; 107033 a task group is open; 107025
// a stream that joined has work behind the last record that the stream of the capture waits for.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

// Swaps the mode of the calling thread with *mode. Calling it again restores it. 100000: NULL.
// 107000: no such mode.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

// ---------------------------------------------------------------------------------------- replay
// `modelRI` in all functions below: 100000 NULL; 107000 destroyed, or no graph.

// Replays in stream order, on any stream of the context of the capture, NULL included. Replays of
// one graph never overlap. 107004: captured in another context. 107000: its capture goes on.
// 207000: the stream is captured.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

// Replays on the default stream and waits as aclrtSynchronizeStreamWithTimeout does, with its
// codes.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

// 107037: a replay is queued or runs.
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

// Calls func(userData) when the graph is destroyed, in the destroying thread, in the order of
// registration. 100000: func NULL.
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func,
                                                             void* userData);
// 107000: not registered.
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI,
                                                               aclrtCallback func);

// A small number, unique in the process.
ACL_FUNC_VISIBILITY aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);
// A name for readers, "" at first; `maxLen` counts bytes with the final 0. 107039: too small.
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);

// Prints one line per node to standard output.
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

// ----------------------------------------------------------------------------------- task groups
//
// For operators whose arguments change on the host: put them into a group while capturing, and give
// the group new calls of the same operators later.
//
//     aclmdlRICaptureTaskGrpBegin(stream);            // while capturing
//     aclnnXxx(workspace, bytes, executor, stream);
//     aclmdlRICaptureTaskGrpEnd(stream, &group);
//     ...
//     aclmdlRICaptureTaskUpdateBegin(other, group);   // after the capture, as often as wanted
//     aclnnXxx(workspace, bytes, new_executor, other);
//     aclmdlRICaptureTaskUpdateEnd(other);
//
// Operators that read what changes from device memory need none of this.

// 107029: the stream is not captured. 107033: a group is open.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
// The group lives as long as the graph. 107029: not captured. 107033: no group is open.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

// From now on phase twos on the stream are collected instead of queued; anything else there is
// refused with 207019. 100000: stream NULL. 107000: no live group. 107027: captured. 107033: an
// update is open on the stream.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
                                                            aclrtTaskGrp handle);
// Puts them in place of those of the group, in order of this stream: replays that reach the group
// later run them. 107033: no update is open. 507000: not the same operators in the same order; the
// group stays as it is. 107000: the graph was destroyed.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
