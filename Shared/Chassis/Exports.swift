@_exported import Logging

// A service says `import Chassis` and has the logger, the metric handles and what its parts are written against.
@_exported import class CoreMetrics.Counter
@_exported import class CoreMetrics.Gauge
@_exported import class CoreMetrics.Recorder
import class CoreMetrics.Timer
import protocol ServiceLifecycle.Service
@_exported import func ServiceLifecycle.cancelWhenGracefulShutdown
@_exported import func ServiceLifecycle.gracefulShutdown
@_exported import func ServiceLifecycle.withGracefulShutdownHandler

/// A part of a process that runs until it is asked to stop: one method, `run()`.
///
/// It returns when the graceful shutdown was triggered and everything in hand is settled (`withGracefulShutdownHandler`
/// and `gracefulShutdown()` tell it); returning earlier ends the process as a failure, and so does throwing. The word
/// "service" is left to our processes.
public typealias LongRunning = ServiceLifecycle.Service

/// A histogram of durations.
///
/// Foundation has a `Timer` of its own, so this one goes by what it is.
public typealias DurationHistogram = CoreMetrics.Timer
