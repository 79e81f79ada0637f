import Chassis

/// Gives memory back to the system after a flood of requests.
///
/// The connections of a flood free their buffers after its bodies, each in its own time, and a smaller second wave follows: once
/// is too early for some of them, so memory is given back several times.
struct FloodRelief: Service {
    /// What memory is given back after; at most one waits.
    let floods: AsyncStream<Void>
    let wait: @Sendable (Duration) async throws -> Void
    let giveBack: @Sendable () -> Void

    func run() async {
        for await _ in floods.cancelOnGracefulShutdown() {
            for _ in 0..<12 {
                do {
                    try await cancelWhenGracefulShutdown { try await wait(.seconds(5)) }
                } catch {
                    return
                }
                giveBack()
            }
        }
    }
}
