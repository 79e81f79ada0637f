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
