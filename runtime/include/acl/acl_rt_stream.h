/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, callbacks and events. Part of acl_rt.h, which includes this header.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_STREAM_H_
#define INC_EXTERNAL_ACL_ACL_RT_STREAM_H_

#include <stdint.h>

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// --------------------------------------------------------------------------------------- streams
//
// Work on one stream runs one piece after the other, in the order in which it was queued; streams,
// default streams included, are independent of each other. Each has a worker thread, started with
// its first piece of work.
//
// An error while queued work runs is kept by its stream (the first one, if there are several) until
// a synchronisation of the stream, or of the device with its context current, returns it and clears
// it.

// In the current context.
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);
// `priority` is accepted, 0 to 7, and changes nothing; `flag`: 0 or ACL_STREAM_... combined.
// 107000: other values.
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                         uint32_t flag);

// Waits for the queued work. An error that the stream still keeps is dropped. 107000 also: the
// default stream; called by a host function on this stream.
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);
// Does not wait: drops the work that has not begun (events recorded there count as reached).
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

// Waits for everything queued so far, and returns the error that the stream kept, if any. 107000:
// called by a host function on this stream.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);
// 507046: not done in time; the work goes on.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

// Whether everything queued so far is done. Does not wait and does not report kept errors.
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

// What follows an error: ACL_CONTINUE_ON_FAILURE (default) runs the rest; ACL_STOP_ON_FAILURE skips
// it (events still count as reached) until the error was reported. 107000: another mode.
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

// Runs fn(args) on the worker thread of the stream, in order. The function must not wait for its
// own stream, and has no current context. 100000: fn NULL. 107011: a thread is subscribed to the
// stream.
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

// Callbacks that run in a thread of the program:
//
//     aclrtSubscribeReport(thread, stream);                     // thread: its pthread_self()
//     aclrtLaunchCallback(fn, data, ACL_CALLBACK_BLOCK, stream);
//     ...                                                       // thread: aclrtProcessReport(-1)
//     aclrtUnSubscribeReport(thread, stream);                   // before the stream is destroyed
//
// A stream has one subscribed thread, a thread any number of streams. A stream is used with
// callbacks or with aclrtLaunchHostFunc, never with both.

// Hands fn(userData) to the subscribed thread when the stream gets there. ACL_CALLBACK_BLOCK: the
// stream waits until it has run; ACL_CALLBACK_NO_BLOCK: it goes on. 107015: nobody is subscribed;
// the same as an error of the stream if nobody is any more when the stream gets there. 207000: the
// stream is captured. An fn that throws: 500000 for the thread that ran it, and 507018 as an error
// of a stream that waits.
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);
// 107011: a thread is subscribed to the stream already, or it was used with aclrtLaunchHostFunc.
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);
// What the stream has handed to the thread and was not run is dropped. 107012: the thread has no
// subscription; 107015: none to this stream.
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);
// Runs the next callback of the calling thread, waiting for one. 107012: the thread is not
// subscribed (any more). 507012: none within the timeout.
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

// ---------------------------------------------------------------------------------------- events

// An event takes time stamps if made with aclrtCreateEvent or with ACL_EVENT_TIME_LINE.
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);
// `flag`: ACL_EVENT_... combined, at least one. 107000: 0 or other bits. 207000: ACL_EVENT_IPC.
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);
// As above; a query before the first record answers COMPLETE, and the event may be part of a
// captured graph, see acl_rt_graph.h.
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

// Does not wait. Waits that were queued for it still happen. Any context may be current.
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

// Marks the present end of the stream's queue. Recording again moves the mark; waits queued before
// keep the old one.
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

// Makes work queued on `stream` after this call wait for the newest record made before it. Never
// recorded: no wait. The host does not wait.
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

// In stream order, makes the event one that was never recorded, unless it is recorded again
// meanwhile. 207000: made with aclrtCreateEventExWithFlag and not external.
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

// The four functions below: 207000 for an ACL_EVENT_EXTERNAL event; 107028 while the newest record
// is part of a capture that goes on.

// Waits on the host for the newest record. Never recorded: returns at once. Errors kept by the
// stream are not returned. 107000 also: called by a host function on the stream of the record,
// ahead of it.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);
// 507047: not reached in time.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

// Whether the newest record was reached. Does not wait.
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus* status);

// Milliseconds from startEvent to endEvent, negative if they were reached the other way round.
// 507000: one was never recorded. 107006: one is not reached yet, or takes no time stamps.
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

#ifdef __cplusplus
}
#endif

#endif
