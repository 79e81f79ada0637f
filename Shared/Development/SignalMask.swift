import Foundation

/// Which signals the calling thread keeps from itself.
enum SignalMask {
    /// Runs `body` with no signal blocked on this thread.
    ///
    /// A process starts with the mask of the thread that started it, and the threads of the concurrency pool block
    /// nearly everything: a program started from there would never hear that it should end.
    static func withNothingBlocked<Value>(_ body: () throws -> Value) rethrows -> Value {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }
}
