import Synchronization

/// A section of the status screen: its value, or why it could not be read. An unreadable section hides no other.
package enum Section<Value: Sendable & Encodable>: Sendable, Encodable {
    case read(Value)
    case unreadable(String)

    package init(_ body: () async throws -> Value) async {
        do {
            self = .read(try await body())
        } catch {
            self = .unreadable((error as? any HintedError)?.messageWithHint ?? "\(error)")
        }
    }

    /// The beginning of the reason where the time was over.
    package static var late: String { "no answer within " }

    /// Gives up after a time; what still runs then is cancelled and not waited for, because a client of a dependency that hangs
    /// may notice it late.
    package init(within limit: Duration, _ body: @escaping @Sendable () async throws -> Value) async {
        self = await withCheckedContinuation { continuation in
            let once = Once(continuation)
            let work = Task { once.resume(await Section(body)) }
            Task {
                try? await Task.sleep(for: limit)
                once.resume(.unreadable("\(Self.late)\(limit.components.seconds) s"))
                work.cancel()
            }
        }
    }

    package func map<Part>(_ body: (Value) -> Part) -> Section<Part> {
        switch self {
        case .read(let value): .read(body(value))
        case .unreadable(let problem): .unreadable(problem)
        }
    }

    package var value: Value? {
        guard case .read(let value) = self else { return nil }
        return value
    }

    package var problem: String? {
        guard case .unreadable(let problem) = self else { return nil }
        return problem
    }

    private enum CodingKeys: String, CodingKey {
        case unreadable
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .read(let value): try value.encode(to: encoder)
        case .unreadable(let problem):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(problem, forKey: .unreadable)
        }
    }
}

/// Resumes a continuation the first time.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    func resume(_ value: Value) { continuation.withLock { $0.take() }?.resume(returning: value) }
}
