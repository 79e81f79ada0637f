import AppStore
import Contracts
import ServerAPI
import StrictJSON

/// What became of a question to Apple, in the words of an answer.
enum AppleQuestion {
    struct Failure: Error {
        var reason: String
        var detail: String
    }

    /// The app waits for the answer to its request, however many questions that takes.
    static let patience = Duration.seconds(10)

    /// - Parameter deadline: of each question.
    static func client(
        _ services: UploadServices, _ bundleId: String, _ environment: StoreEnvironment,
        deadline: Duration = patience
    ) throws(Failure) -> AppStoreServerAPI {
        guard var client = services.apple?[bundleId, AppStoreEnvironment(rawValue: environment.rawValue)] else {
            throw Failure(
                reason: "no-api-key",
                detail: "there is no App Store Server API key for \(bundleId); upload what is signed instead")
        }
        client.verifier = services.verifier()
        guard deadline > .zero else {
            throw Failure(reason: "apple-unavailable", detail: "Apple did not answer in time; send it again later")
        }
        client.deadline = deadline
        return client
    }

    static func ask<Value: Sendable>(_ question: () async throws -> Value) async throws(Failure) -> Value {
        do {
            return try await question()
        } catch APIError.rejected(let rejection) where rejection.isNotFound {
            throw Failure(reason: "unknown-transaction", detail: "Apple does not know it in this environment")
        } catch APIError.rejected(let rejection) where !rejection.isRetryable {
            // Its words say what to do; Apple would answer the same later.
            throw Failure(reason: "apple-refused", detail: "\(rejection)")
        } catch let error as APIError {
            throw Failure(reason: "apple-unavailable", detail: "\(error); send it again later")
        } catch {
            throw Failure(reason: "apple-unavailable", detail: "Apple could not be asked; send it again later")
        }
    }
}

extension UploadServices {
    /// For requests whose whole answer is Apple's.
    func client(of bundleId: String, in environment: StoreEnvironment) throws(Problem) -> AppStoreServerAPI {
        do throws(AppleQuestion.Failure) {
            return try AppleQuestion.client(self, bundleId, environment)
        } catch {
            throw Problem(
                .conflict,
                "There is no App Store Server API key for \(bundleId); list one in the file of STOREKEEPER_APP_STORE_API_KEYS_FILE."
            )
        }
    }
}

extension Problem {
    /// Apple did not do what was asked.
    init(_ error: APIError) {
        switch error {
        case .rejected(let rejection) where !rejection.isRetryable:
            self.init(rejection.status == 404 ? .notFound : .conflict, "\(rejection).")
            if let code = rejection.code { members = [("appleErrorCode", Array("\(code.rawValue)".utf8))] }
        case .unsettled(let text):
            self.init(.outcomeUnknown, "\(text).")
        case .rejected, .rateLimited, .unreachable, .unauthorized, .unreadable, .invalidRequest:
            self.init(.unavailable, "Apple could not be asked: \(error).", headers: [.retryAfter: "5"])
        }
    }
}
