import Testing

extension Trait where Self == FewAtOnce {
    /// Three test cases at once: a test waits for its processes half of its time, and the processes of more tests would be slow together.
    static var fewAtOnce: Self { FewAtOnce() }
}

struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
    private static let places = Places(3)
    /// A test may get the trait of its suite and of the suite around that: it takes one place.
    @TaskLocal private static var hasPlace = false

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.hasPlace else { return try await function() }
        await Self.places.take()
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self.$hasPlace.withValue(true) { try await function() })
        } catch {
            result = .failure(error)
        }
        await Self.places.release()
        try result.get()
    }
}

private actor Places {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func release() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
