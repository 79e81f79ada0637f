import Commands
import Synchronization

/// The output of a run; usable from any task.
final class LiveDisplay: Sendable {
    private struct State {
        var screen = TerminalScreen()
        var view: LiveView?
        var lastLine: Duration?
    }

    /// Interval of plain lines without a terminal.
    private static let lineInterval: Duration = .seconds(3)

    private let isQuiet: Bool
    private let state = Mutex(State())

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func say(_ line: String) {
        guard !isQuiet else { return }
        state.withLock { $0.screen.say(line) }
    }

    func begin(target: String) {
        state.withLock { $0.view = LiveView(target: target) }
    }

    func update(_ snapshot: Snapshot) {
        guard !isQuiet else { return }
        state.withLock { state in
            guard var view = state.view else { return }
            defer { state.view = view }
            if state.screen.isTerminal {
                view.width = state.screen.width
                state.screen.draw(view.frame(snapshot))
            } else if state.lastLine.map({ snapshot.elapsed - $0 >= Self.lineInterval }) ?? true {
                state.lastLine = snapshot.elapsed
                state.screen.say(view.line(snapshot))
            }
        }
    }
}
