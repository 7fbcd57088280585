// Which engine serves a request: always the same one for the same owner of memories, whose facts' KV it has near.
//
// Only this chooses, nothing is decided by it: an engine that serves somebody for the first time reads what it needs.
// The gateway in the engine checks the key and what the body says. `tenants.affinity` is the workers' side of it.

import crypto from 'crypto'

const KINDS = ['user', 'agent', 'app', 'run']
const MARK = 8 // characters at the end of every key, the same for all keys of a tenant

function route(request) {
    request.variables.affinity = request.headersIn['X-Inferscale-Affinity'] || affinity(request)
    request.internalRedirect('@engine')
}

function affinity(request) {
    const mark = (request.headersIn['Authorization'] || '').trim().slice(-MARK)
    return crypto.createHash('sha256').update(`${mark}/${owner(request.requestText)}`).digest('hex')
}

function owner(text) {
    try {
        const body = JSON.parse(text)
        const memory = body.memory || {}
        const kind = KINDS.find((kind) => memory[kind + '_id'])
        return kind ? `${kind}/${memory[kind + '_id']}` : `user/${body.user || ''}`
    } catch (error) {
        return '' // the engine says what is wrong with it
    }
}

export default { route }
