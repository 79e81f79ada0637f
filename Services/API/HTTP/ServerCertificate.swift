import Bootstrap
import Chassis
import NIOSSL
import Synchronization

/// The certificate of the API where it ends TLS itself. Checks its files every few seconds and applies a renewed one to new
/// connections. A file with a mistake changes nothing.
final class ServerCertificate: Service {
    private let files: [String]
    private let current: Mutex<TLSConfiguration>
    private let watched: WatchedFiles
    private let logger: Logger

    /// - Parameters:
    ///   - certificate: file of the certificate and its intermediate ones, PEM.
    ///   - key: file of its private key, PEM.
    /// - Throws: `ConfigurationProblems`.
    init(certificate: String, key: String, logger: Logger) throws {
        files = [certificate, key]
        watched = WatchedFiles(files)
        do {
            current = Mutex(try Self.read(files))
        } catch {
            throw ConfigurationProblems([
                .unusable(
                    name: "STOREKEEPER_API_TLS_CERTIFICATE_FILE",
                    reason:
                        "and STOREKEEPER_API_TLS_KEY_FILE name \(certificate) and \(key), which are no PEM files of a "
                        + "certificate and its key: \(error)")
            ])
        }
        self.logger = logger
    }

    /// Each handshake takes the newest certificate.
    var configuration: TLSConfiguration {
        var configuration = current.withLock { $0 }
        configuration.sslContextCallback = { [self] _, promise in
            let newest = current.withLock { $0 }
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = newest.certificateChain
            override.privateKey = newest.privateKey
            promise.succeed(override)
        }
        return configuration
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(2))
                reloadIfChanged()
            }
        }
    }

    /// Applies changed files.
    func reloadIfChanged() {
        guard watched.haveChanged() else { return }
        do {
            let new = try Self.read(files)
            current.withLock { $0 = new }
            logger.reloaded("the TLS certificate")
        } catch {
            logger.kept("the TLS certificate", because: error)
        }
    }

    private static func read(_ files: [String]) throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMFile(files[0])
        let key = try NIOSSLPrivateKey(file: files[1], format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A key of another certificate is found here, not by the first client.
        _ = try NIOSSLContext(configuration: configuration)
        return configuration
    }
}
