"""Base classes of schedulers."""

from abc import ABC, abstractmethod


class SimpleScheduler(ABC):
    @abstractmethod
    def next(self, current): ...


class Scheduler(ABC):
    def before_request(self, now):
        pass

    def after_request(self, now, weight, unit, request_meta_data):
        pass

    @abstractmethod
    def next(self, current): ...
