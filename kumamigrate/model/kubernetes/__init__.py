"""What a control plane makes of Kubernetes objects: Dataplanes and MeshServices."""
