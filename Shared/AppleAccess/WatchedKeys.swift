import AppStore
import Chassis

/// The file of API keys, looked at again and again. Keys are exchanged while everything runs, and the old one is revoked
/// some time after: nobody should have to restart anything in between.
actor WatchedKeys {
    private let path: String
    private let apps: AppRegistry
    private var fingerprint: [UInt8]
    /// What was wrong at the last look; said once.
    private var fault: APIKeysFileFault?
    private let logger = Logger(label: "storekeeper.apple-api")

    init(path: String, apps: AppRegistry, first: APIKeysFile) {
        self.path = path
        self.apps = apps
        fingerprint = first.fingerprint
    }

    /// - Returns: what the file says now, if that is news.
    func look() -> APIKeysFile? {
        do throws(APIKeysFileFault) {
            let file = try APIKeysFile(contentsOf: path, apps: apps)
            fault = nil
            guard file.fingerprint != fingerprint else { return nil }
            fingerprint = file.fingerprint
            Metric.trustReloads.counter("used").increment()
            logger.notice("The keys of Apple's API were read anew")
            return file
        } catch {
            guard error != fault else { return nil }
            fault = error
            Metric.trustReloads.counter("unusable").increment()
            logger.error("The keys of Apple's API changed and cannot be used; the former ones stay: \(error)")
            return nil
        }
    }
}
