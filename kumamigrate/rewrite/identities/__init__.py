"""From `Mesh.mtls` to MeshIdentity: the stages, and the permissions that hold in each."""
