@_exported import Logging

// A service says `import Chassis` and has the logger, the metric handles and the service protocols.
@_exported import class CoreMetrics.Counter
@_exported import class CoreMetrics.Gauge
@_exported import class CoreMetrics.Recorder
import class CoreMetrics.Timer
@_exported import protocol ServiceLifecycle.Service
@_exported import func ServiceLifecycle.cancelWhenGracefulShutdown
@_exported import func ServiceLifecycle.gracefulShutdown
@_exported import func ServiceLifecycle.withGracefulShutdownHandler

/// A histogram of durations.
///
/// Foundation has a `Timer` of its own, so this one has another name.
public typealias DurationHistogram = CoreMetrics.Timer
