import Commands
import Operations
import ServerAPI

/// What Apple says of some of the purchases of an import, before they are imported.
struct ImportSample: Encodable, Sendable, Equatable {
    var asked = 0
    /// Purchases that Apple does not have for the app in the environment.
    var unknown: [String] = []
    /// Why Apple was not asked about more; nil where it was asked about all of the sample.
    var stopped: String?

    /// Selects as many purchases as `count`, in equal distances.
    static func selection<ID>(of ids: [ID], _ count: Int) -> [ID] {
        guard ids.count > count else { return ids }
        return (0..<count).map { ids[$0 * ids.count / count] }
    }

    /// Asks Apple about one purchase after the other.
    mutating func ask(_ client: AppStoreServerAPI, about ids: [String]) async {
        for id in ids {
            do {
                _ = try await client.transactionInfo(id)
            } catch APIError.rejected(let rejection) where rejection.isNotFound {
                unknown.append(id)
            } catch {
                stopped = "\(error)"
                return
            }
            asked += 1
        }
    }

    /// A sentence for the operator.
    var sentence: String {
        let found = unknown.isEmpty ? "knows all of them" : "does not know \(unknown.joined(separator: ", "))"
        let text = asked == 0 ? "" : "Of \(asked.counted("purchase")) that Apple was asked about, it \(found). "
        return text + (stopped.map { "Apple was not asked about more: \($0)." } ?? "")
    }
}
