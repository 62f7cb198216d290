// Streams, host functions and events.
#include "simulator/mtia/driver.hpp"

using sim::CallScope;
using sim::EventId;
using sim::Status;
using sim::StreamId;
using sim::mtia::Driver;
using sim::mtia::to_address;
using sim::mtia::to_pointer;
using sim::mtia::to_result;
using sim::mtia::with_device;

namespace {

EventId to_event(mtiaEvent_t event) { return EventId{to_address(event)}; }

}  // namespace

MTIA_EXPORTS_BEGIN

mtiaResult_t mtiaStreamCreate(mtiaStream_t* stream) {
  return with_device("mtiaStreamCreate", [=](Driver& driver, CallScope& call) {
    if (stream == nullptr) return MTIA_ERROR_INVALID_VALUE;
    StreamId made{};
    const auto context = driver.context(driver.current_device());
    const Status status = driver.scheduler().create_stream(context, sim::StreamKind::Blocking, made);
    if (status == Status::Ok) {
      *stream = static_cast<mtiaStream_t>(to_pointer(static_cast<sim::Address>(made)));
      call.note("stream=%p", static_cast<void*>(*stream));
    }
    return to_result(status);
  });
}

mtiaResult_t mtiaStreamDestroy(mtiaStream_t stream) {
  return with_device("mtiaStreamDestroy", [=](Driver& driver, CallScope& call) {
    call.note("stream=%p", static_cast<void*>(stream));
    return to_result(driver.scheduler().destroy_stream(StreamId{to_address(stream)}));
  });
}

mtiaResult_t mtiaStreamSynchronize(mtiaStream_t stream) {
  return with_device("mtiaStreamSynchronize", [=](Driver& driver, CallScope& call) {
    call.note("stream=%p", static_cast<void*>(stream));
    return to_result(driver.scheduler().synchronize(driver.stream(stream)));
  });
}

mtiaResult_t mtiaStreamQuery(mtiaStream_t stream) {
  return with_device("mtiaStreamQuery", [=](Driver& driver, CallScope& call) {
    call.note("stream=%p", static_cast<void*>(stream));
    return to_result(driver.scheduler().query(driver.stream(stream)));
  });
}

mtiaResult_t mtiaLaunchHostFunc(mtiaStream_t stream, void (*fn)(void*), void* data) {
  return with_device("mtiaLaunchHostFunc", [=](Driver& driver, CallScope& call) {
    call.note("stream=%p", static_cast<void*>(stream));
    const sim::HostFunction work{.function = fn, .data = data};
    return to_result(driver.machine().submit(driver.stream(stream), work));
  });
}

mtiaResult_t mtiaEventCreate(mtiaEvent_t* event) {
  return with_device("mtiaEventCreate", [=](Driver& driver, CallScope& call) {
    if (event == nullptr) return MTIA_ERROR_INVALID_VALUE;
    EventId made{};
    const Status status = driver.scheduler().create_event(driver.context(driver.current_device()), made);
    if (status == Status::Ok) {
      *event = static_cast<mtiaEvent_t>(to_pointer(static_cast<sim::Address>(made)));
      call.note("event=%p", static_cast<void*>(*event));
    }
    return to_result(status);
  });
}

mtiaResult_t mtiaEventRecord(mtiaEvent_t event, mtiaStream_t stream) {
  return with_device("mtiaEventRecord", [=](Driver& driver, CallScope& call) {
    call.note("event=%p stream=%p", static_cast<void*>(event), static_cast<void*>(stream));
    return to_result(driver.scheduler().record(to_event(event), driver.stream(stream)));
  });
}

mtiaResult_t mtiaEventQuery(mtiaEvent_t event) {
  return with_device("mtiaEventQuery", [=](Driver& driver, CallScope& call) {
    call.note("event=%p", static_cast<void*>(event));
    return to_result(driver.scheduler().query_event(to_event(event)));
  });
}

mtiaResult_t mtiaEventSynchronize(mtiaEvent_t event) {
  return with_device("mtiaEventSynchronize", [=](Driver& driver, CallScope& call) {
    call.note("event=%p", static_cast<void*>(event));
    return to_result(driver.scheduler().synchronize_event(to_event(event)));
  });
}

mtiaResult_t mtiaEventDestroy(mtiaEvent_t event) {
  return with_device("mtiaEventDestroy", [=](Driver& driver, CallScope& call) {
    call.note("event=%p", static_cast<void*>(event));
    return to_result(driver.scheduler().destroy_event(to_event(event)));
  });
}

MTIA_EXPORTS_END
