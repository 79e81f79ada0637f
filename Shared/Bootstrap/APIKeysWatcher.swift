import AppStore
import Chassis
import ServerAPI

/// Watches the file of API keys, so that a key rotation or a new app needs no restart.
actor APIKeysWatcher {
    private let path: String
    private var apps: [AcceptedApp]
    private var fingerprint: [UInt8]
    /// The problems of the last reload, to log them once.
    private var fault: APIKeysFileFault?
    private let logger = Logger(label: "storekeeper.apple-api")

    init(path: String, apps: AppRegistry, first: APIKeysFile) {
        self.path = path
        self.apps = apps.all
        fingerprint = first.fingerprint
        Self.warn(of: first, logger)
    }

    private static func warn(of file: APIKeysFile, _ logger: Logger) {
        for warning in file.warnings {
            logger.warning("A private key is not private; the service works on", metadata: ["problem": "\(warning)"])
        }
    }

    /// - Returns: the new contents; nil where neither keys nor apps changed.
    func reload(apps: AppRegistry) -> APIKeysFile? {
        do throws(APIKeysFileFault) {
            let file = try APIKeysFile(contentsOf: path, apps: apps)
            fault = nil
            guard file.fingerprint != fingerprint || apps.all != self.apps else { return nil }
            (fingerprint, self.apps) = (file.fingerprint, apps.all)
            logger.reloaded("App Store Server API keys")
            Self.warn(of: file, logger)
            return file
        } catch {
            guard error != fault else { return nil }
            fault = error
            logger.kept("App Store Server API keys", because: error)
            return nil
        }
    }
}
