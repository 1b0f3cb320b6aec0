"""A worker or a parameter server: it waits for work until it is ended.

    TF_CONFIG='{"cluster": {...}, "task": {"type": "ps", "index": 0}}' python server.py
"""

import tensorflow as tf


def main():
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol=resolver.rpc_layer or "grpc",
        start=True,
    )
    print("%s %d is up" % (resolver.task_type, resolver.task_id), flush=True)
    server.join()


if __name__ == "__main__":
    main()
