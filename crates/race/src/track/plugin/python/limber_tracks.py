"""Rally's track objects from Limber's JSON and back. `track/plugin/track_json.rs` is the other side.

The classes are those of `esrally.track`, whichever is imported.
"""

import os
import pickle


def from_json(data):
    from esrally import track

    def documents(data):
        return track.Documents(
            source_format=track.Documents.SOURCE_FORMAT_BULK,
            document_file=data["document_file"],
            document_archive=data["document_archive"],
            base_url=data["base_url"],
            includes_action_and_meta_data=data["includes_action_and_meta_data"],
            number_of_documents=data["number_of_documents"],
            compressed_size_in_bytes=data["compressed_size_in_bytes"],
            uncompressed_size_in_bytes=data["uncompressed_size_in_bytes"],
            target_index=data["target_index"],
            target_data_stream=data["target_data_stream"],
            target_type=data["target_type"],
            meta_data=data["meta_data"],
        )

    def templates(name, make):
        return [make(template) for template in data[name]]

    def template(data):
        return track.IndexTemplate(data["name"], data["pattern"], data["content"], data["delete_matching_indices"])

    return track.Track(
        name=data["name"],
        description=data["description"],
        meta_data=data["meta_data"],
        challenges=[challenge(track, one) for one in data["challenges"]],
        indices=[track.Index(one["name"], one["body"], one["types"]) for one in data["indices"]],
        data_streams=[track.DataStream(name) for name in data["data_streams"]],
        templates=templates("templates", template),
        composable_templates=templates("composable_templates", template),
        component_templates=templates("component_templates", lambda one: track.ComponentTemplate(one["name"], one["content"])),
        corpora=[
            track.DocumentCorpus(corpus["name"], [documents(one) for one in corpus["documents"]], corpus["meta_data"])
            for corpus in data["corpora"]
        ],
        has_plugins=True,
        root=data["root"],
    )


def challenge(track, data):
    return track.Challenge(
        name=data["name"],
        description=data["description"],
        user_info=data["user_info"],
        default=data["default"],
        auto_generated=data["auto_generated"],
        parameters=data["parameters"],
        meta_data=data["meta_data"],
        schedule=[element(track, one) for one in data["schedule"]],
    )


def element(track, data):
    if "parallel" in data:
        return track.Parallel([task(track, one) for one in data["parallel"]], data["clients"])
    return task(track, data)


def task(track, data):
    operation = data["operation"]
    return track.Task(
        name=data["name"],
        operation=track.Operation(
            name=operation["name"],
            operation_type=operation["type"],
            meta_data=operation["meta_data"],
            params=operation["params"],
            param_source=operation["param_source"],
        ),
        tags=data["tags"],
        meta_data=data["meta_data"],
        warmup_iterations=data["warmup_iterations"],
        iterations=data["iterations"],
        warmup_time_period=data["warmup_time_period"],
        time_period=data["time_period"],
        ramp_up_time_period=data["ramp_up_time_period"],
        clients=data["clients"],
        schedule=data["schedule"],
        params=data["params"],
        completes_parent=data["completes_parent"],
        any_completes_parent=data["any_completes_parent"],
    )


def to_json(track):
    def template(one):
        return {
            "name": one.name,
            "pattern": one.pattern,
            "content": one.content,
            "delete_matching_indices": one.delete_matching_indices,
        }

    return {
        "name": track.name,
        "description": track.description,
        "meta_data": track.meta_data,
        "indices": [{"name": one.name, "body": one.body, "types": one.types} for one in track.indices],
        "data_streams": [one.name for one in track.data_streams],
        "templates": [template(one) for one in track.templates],
        "composable_templates": [template(one) for one in track.composable_templates],
        "component_templates": [{"name": one.name, "content": one.content} for one in track.component_templates],
        "corpora": [
            {"name": one.name, "meta_data": one.meta_data, "documents": [documents_to_json(set_) for set_ in one.documents]}
            for one in track.corpora
        ],
        "challenges": [challenge_to_json(one) for one in track.challenges],
    }


def documents_to_json(documents):
    names = (
        "document_file document_archive base_url includes_action_and_meta_data number_of_documents compressed_size_in_bytes "
        "uncompressed_size_in_bytes target_index target_data_stream target_type meta_data"
    )
    return {name: getattr(documents, name) for name in names.split()}


def challenge_to_json(challenge):
    return {
        "name": challenge.name,
        "description": challenge.description,
        "user_info": challenge.user_info,
        "default": challenge.default,
        "auto_generated": challenge.auto_generated,
        "parameters": challenge.parameters,
        "meta_data": challenge.meta_data,
        "schedule": [element_to_json(one) for one in challenge.schedule],
    }


def element_to_json(element):
    if hasattr(element, "tasks"):
        return {"parallel": [task_to_json(one) for one in element.tasks], "clients": getattr(element, "_clients", None)}
    return task_to_json(element)


def task_to_json(task):
    operation = task.operation
    return {
        "name": task.name,
        "operation": {
            "name": operation.name,
            "type": operation.type,
            "meta_data": operation.meta_data,
            "params": operation.params,
            "param_source": operation.param_source,
        },
        "tags": task.tags,
        "meta_data": task.meta_data,
        "warmup_iterations": task.warmup_iterations,
        "iterations": task.iterations,
        "warmup_time_period": task.warmup_time_period,
        "time_period": task.time_period,
        "ramp_up_time_period": task.ramp_up_time_period,
        "clients": task.clients,
        "schedule": task.schedule,
        "params": task.params,
        "completes_parent": task.completes_parent,
        "any_completes_parent": task.any_completes_parent,
    }


def select(track, name):
    """Marks the challenge that is raced."""
    for challenge in track.challenges:
        challenge.selected = challenge.name == name if name else challenge.default


def set_files(track, files):
    """Absolute names of document files: (corpus, name in the track, path)."""
    found = {(corpus, name): path for corpus, name, path in files}
    for corpus in track.corpora:
        for documents in corpus.documents:
            path = found.get((corpus.name, documents.document_file))
            if path is not None:
                documents.document_file = path


def prepare(track, processors, data_root):
    """Runs what the processors want done before the race, and finds the files that they made."""
    for processor in processors:
        if not hasattr(processor, "on_prepare_track"):
            continue
        for function, params in processor.on_prepare_track(track, data_root) or ():
            function(**params)
    for corpus in track.corpora:
        for documents in corpus.documents:
            name = documents.document_file
            if name and not os.path.isabs(name):
                path = os.path.join(data_root, corpus.name, name)
                documents.document_file = path if os.path.exists(path) else name


def pickled(track):
    return pickle.dumps(track)


def unpickled(payload):
    return pickle.loads(payload)
