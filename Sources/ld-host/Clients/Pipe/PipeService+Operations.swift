internal import LocalDataAPI
internal import LocalDataHost

extension PipeService {
    /// Does what a request asks for, and answers it.
    func perform(_ request: PipeRequest, _ value: SecretSlice, _ output: PipeOutput) async throws {
        guard value.isEmpty || request.op == .set else {
            throw InvalidPipeRequest("a request '\(request.op.rawValue)' takes no value")
        }
        var response = PipeResponse(id: request.id)
        switch request.op {
        case .version:
            response.protocol = Self.version
            response.version = HostVersion.current
            response.abi = HostVersion.abi
            response.longestValue = PipeFrame.longestValue
        case .list: try await list(request, &response)
        case .get:
            let key = try await key(request)
            guard let value = try await router.secret(for: key, limit: PipeFrame.longestValue) else {
                throw await router.notStored(key)
            }
            return output.send(response, value)
        case .set:
            guard value.count <= PipeFrame.longestValue else {
                throw StorageError(
                    .valueTooLarge, "the value has \(value.count) bytes; at most \(PipeFrame.longestValue) are possible"
                )
            }
            let given = GivenValue(for: try await key(request), as: request.form)
            try await router.setSecret(given.bytes(value), for: given.key)
        case .remove: response.removed = try await router.removeIfStored(key(request))
        case .exists: response.exists = try await router.exists(key(request))
        case .attributes:
            let key = try await key(request)
            guard let attributes = try await router.attributes(of: key) else { throw await router.notStored(key) }
            response.attributes = PipeResponse.Attributes(attributes)
        }
        output.send(response)
    }

    private func list(_ request: PipeRequest, _ response: inout PipeResponse) async throws {
        let limit = request.limit ?? Self.pageSize.usual
        guard (1...Self.pageSize.most).contains(limit) else {
            throw InvalidPipeRequest("a 'limit' of \(limit) is not possible", hint: "1 to \(Self.pageSize.most)")
        }
        // One more than is wanted tells whether there are more.
        let names = try await router.names(
            in: domain(request), prefix: request.prefix ?? "", after: request.after, limit: limit + 1)
        response.names = Array(names.prefix(limit))
        response.more = names.count > limit
    }

    private func domain(_ request: PipeRequest) throws -> StorageDomain {
        guard let domain = request.domain else { throw InvalidPipeRequest("a 'domain' is missing") }
        // It becomes the beginning of an address, which ends there.
        guard !domain.utf8.contains(where: { ":/".utf8.contains($0) }) else {
            throw StorageError(
                .invalidAddress, "the domain '\(domain)' is invalid", hint: "give its scope as 'scope'")
        }
        return try StorageDomain(name: domain, scope: request.scope)
    }

    private func key(_ request: PipeRequest) async throws -> AnyStorageKey {
        guard let name = request.name else { throw InvalidPipeRequest("a 'name' is missing") }
        return try await router.key(at: "\(domain(request))/\(name)")
    }
}
