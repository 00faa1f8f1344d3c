"""Images in the memory of a GPU: of Plan.empty, and of tensors of other packages, for which DLPack stands.
Without a GPU on the stand-in of tests/cuda, whose memory the processor cannot reach."""

import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import numpy

import ending
import dualbragg
from dualbragg import _library, memory
from dualbragg._library import ffi, lib
from dualbragg._rendering import Rendering

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(24, 17), pixel_size=0.8, misset=(10, 20, 30), flux=1e12, exposure=1, beamsize=0.1)
NAMES = ["cell_a", "misset_y", "distance"]
TOLERANCE = dict(rtol=2e-5, atol=1e-3)


class Tensor:
    """A tensor of another package, with memory of a plan's device: what DLPack asks of it, and what it
    was asked."""

    def __init__(self, room, device=None, strides=None, error=None):
        self.room, self.device, self.strides, self.error = room, device or room.device, strides, error
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream="none"):
        self.streams.append(stream)
        if self.error:
            raise self.error
        capsule = self.room.__dlpack__(stream=-1)
        if self.strides:
            address = memory._capsule.PyCapsule_GetPointer(capsule, b"dltensor")
            self.kept = ffi.new("int64_t[]", self.strides)
            ffi.cast("struct dl_managed *", address).tensor.strides = self.kept
        return capsule


def plans(dtype=numpy.float32, **keywords):
    experiment = dualbragg.Experiment(**SCENE)
    return [dualbragg.Plan(experiment, NAMES, dtype=dtype, precision="double", device=device, **keywords)
            for device in ("cpu", "cuda")]


def filled(plan, values, count=None):
    room = plan.empty(count)
    plan._call(lib.db_plan_memory_write, plan._plan, ffi.cast("void *", room.address),
               ffi.from_buffer(values), values.nbytes)
    return room


class Device(unittest.TestCase):
    def setUp(self):
        try:
            dualbragg.Plan(dualbragg.Experiment(**SCENE), device="cuda")
        except (dualbragg.DeviceError, dualbragg.UsageError) as error:
            self.skipTest(str(error))

    def test_images_stay_there(self):
        own, plan = plans()
        self.assertEqual(plan.device, "cuda:0")
        image, derivatives = plan.empty(), plan.empty(len(NAMES))
        self.assertIs(plan.forward(image), image)
        numpy.testing.assert_allclose(image.numpy(), own.forward(), **TOLERANCE)
        found = plan.gradient(image, derivatives)
        self.assertIs(found[1], derivatives)
        expected = own.gradient()[1]
        for k in range(len(NAMES)):
            scale = abs(expected[k]).max()
            numpy.testing.assert_allclose(derivatives.numpy()[k] / scale, expected[k] / scale, atol=1e-5)
        self.assertEqual(repr(image), "<dualbragg.DeviceArray: 17 x 24 float32, cuda:0>")
        self.assertEqual(image.__cuda_array_interface__["shape"], (17, 24))
        self.assertEqual(image.__cuda_array_interface__["typestr"], "<f4")

    def test_results_that_come_again_are_in_locked_memory(self):
        own, plan = plans()
        image, expected = own.gradient()
        with unittest.mock.patch.object(dualbragg.Plan, "_LEAST_LOCKED", 1000):
            kept = [plan.gradient()]
            self.assertEqual(plan._locked, 0)
            places = set()
            for _ in range(4):
                found = plan.gradient()
                places.add(found[1].ctypes.data)
                del found
            self.assertEqual((len(places), plan._locked), (1, 2))
            kept += [plan.gradient() for _ in range(4)]  # more than stay
            self.assertEqual(plan._locked, plan._MOST_LOCKED)
            self.assertEqual(len({array.ctypes.data for pair in kept for array in pair}), 10)
            del plan
            gc.collect()
            for pair in kept:
                numpy.testing.assert_allclose(pair[0], image, **TOLERANCE)
                for found, right in zip(pair[1], expected):
                    numpy.testing.assert_allclose(found, right, atol=1e-5 * abs(right).max())

    def test_tensors_of_others_are_used_as_they_are(self):
        for dtype in (numpy.float32, numpy.float64):
            own, plan = plans(dtype)
            data = numpy.random.default_rng(1).uniform(0, 5, plan.shape).astype(dtype)
            there, out = Tensor(filled(plan, data)), Tensor(plan.empty())
            numpy.testing.assert_allclose(plan.vjp(there, out), own.vjp(data), rtol=1e-5)
            # both were asked to be ready for the stream that the plan works on
            self.assertEqual(there.streams + out.streams, [memory.LEGACY_STREAM] * 2)
            numpy.testing.assert_allclose(out.room.numpy(), own.forward(), **TOLERANCE)
            for a, b in zip(plan.normal(there, there), own.normal(data, data)):
                numpy.testing.assert_allclose(a, b, rtol=1e-5)
            image, tangent = plan.jvp(numpy.array([0.1, 0.2, 0.3]), out, plan.empty())
            self.assertIs(image, out)
            expected = own.jvp(numpy.array([0.1, 0.2, 0.3]))[1]
            numpy.testing.assert_allclose(tangent.numpy(), expected, atol=1e-5 * abs(expected).max())

    def test_streams(self):
        class Stream:
            cuda_stream = memory.LEGACY_STREAM

        own, plan = plans()
        there = Tensor(plan.empty())
        plan.set_stream(Stream())
        plan.forward(there)
        plan.wait()
        numpy.testing.assert_allclose(there.room.numpy(), own.forward(), **TOLERANCE)
        plan.set_stream(2, wait=True)  # that of the thread
        plan.forward(there)
        self.assertEqual(there.streams, [1, 2])
        numpy.testing.assert_allclose(there.room.numpy(), own.forward(), **TOLERANCE)
        plan.set_stream()
        numpy.testing.assert_allclose(plan.forward(), own.forward(), **TOLERANCE)
        for bad in ("stream", -4):
            with self.assertRaisesRegex(dualbragg.UsageError, "stream: expected a CUDA stream"):
                plan.set_stream(bad)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "on the processor"):
            own.set_stream(1)

    def test_what_is_handed_over_lives_on(self):
        own, plan = plans()
        room = plan.empty()
        plan.forward(room)
        capsules = [room.__dlpack__(), room.__dlpack__(stream=1, max_version=(1, 0))]
        expected = own.forward()
        self.assertEqual(len(memory._lent), 2)
        address, plan = room.address, None
        tensor = ffi.cast("struct dl_managed *",
                          memory._capsule.PyCapsule_GetPointer(capsules[0], b"dltensor")).tensor
        self.assertEqual((int(ffi.cast("intptr_t", tensor.data)), tensor.device_type, tensor.bits,
                          [tensor.shape[i] for i in range(tensor.dimensions)]), (address, 2, 32, [17, 24]))
        numpy.testing.assert_allclose(room.numpy(), expected, **TOLERANCE)
        room, tensor = None, None
        gc.collect()
        self.assertEqual(len(memory._lent), 2)
        del capsules
        self.assertEqual(len(memory._lent), 0)

    def test_memory_that_is_dropped_during_a_call_is_freed_after_it(self):
        own, plan = plans()
        rooms = [plan.empty()]

        def drop(_):
            if rooms:
                rooms.pop()
                gc.collect()

        busy = dualbragg.Plan(dualbragg.Experiment(**SCENE), device="cuda", progress=drop)
        rooms[:] = [busy.empty()]
        busy.forward()
        self.assertFalse(rooms or busy._left)
        numpy.testing.assert_allclose(busy.forward(), own.forward(), **TOLERANCE)

    def test_memory_keeps_its_plan_whatever_ends_first(self):
        _, plan = plans()
        room, context = plan.empty(), _library._address(plan._context)
        ffi.release(plan._context)
        ffi.release(plan._plan)
        self.assertIn(context, _library._contexts)
        del room, plan
        gc.collect()
        self.assertNotIn(context, _library._contexts)

    def test_batches(self):
        experiments = [dualbragg.Experiment(**dict(SCENE, misset=(10, 20, 30 + i))) for i in range(3)]
        batches = [dualbragg.Batch(experiments[0], NAMES, precision="double", device=d) for d in ("cpu", "cuda")]
        own, batch = batches
        images = batch.empty(3)
        self.assertIs(batch.forward(experiments, images), images)
        expected = own.forward(experiments)
        numpy.testing.assert_allclose(images.numpy(), expected, **TOLERANCE)
        numpy.testing.assert_allclose(batch.vjp(experiments, Tensor(images)), own.vjp(experiments, expected),
                                      rtol=1e-4)
        chi2, _, _ = batch.normal(experiments, images)
        self.assertTrue((chi2 < 1e-6 * (expected**2).sum((1, 2))).all())

    def test_renderers_of_tensors(self):
        experiment = dualbragg.Experiment(**SCENE)
        own, there = (Rendering(experiment, NAMES, numpy.float32, None, dict(device=d)) for d in ("cpu", "cuda"))
        for values in (numpy.array([78, 20, 90.0]), numpy.array([[78, 20, 90.0], [78.1, 21, 91]])):
            front = values.shape[:-1]
            expected = own.forward(values, None, own.new(values))
            count = front[0] if front else None
            images, tangents = there.plan.empty(count), there.plan.empty(count)
            for _ in range(2):
                there.forward(values, None, images, memory.LEGACY_STREAM)
                there.jvp(values, None, values, None, tangents, memory.LEGACY_STREAM)
            numpy.testing.assert_allclose(images.numpy(), expected, **TOLERANCE)
            moved = own.jvp(values, None, values, None, own.new(values))
            numpy.testing.assert_allclose(tangents.numpy(), moved, atol=1e-5 * abs(moved).max())
            numpy.testing.assert_allclose(there.vjp(values, None, images, memory.LEGACY_STREAM)[0],
                                          own.vjp(values, None, expected)[0], rtol=1e-3)
        own.plan.update(dualbragg.Experiment(**dict(SCENE, misset=(1, 2, 3))))  # others may move the plan
        numpy.testing.assert_array_equal(own.forward(values[0], None, own.new(values[0])), expected[0])

    def test_all_derivatives_of_a_renderer_are_one_pass(self):
        experiment = dualbragg.Experiment(**SCENE)
        own, there = (Rendering(experiment, NAMES, numpy.float64, None, dict(device=d)) for d in ("cpu", "cuda"))
        values = numpy.tile([78, 20, 90.0], (4, 1))
        along = numpy.random.default_rng(2).normal(size=(4, 3))
        passes = []
        own.plan._call = lambda *given: (passes.append(given), type(own.plan)._call(own.plan, *given))
        moved = own.jvp(values, None, along, None, own.new(values))
        gradient, _ = own.vjp(values, None, moved)
        self.assertEqual([p[0] for p in passes], [lib.rendering_gradient] * 2)
        for row, direction, tangent, sums in zip(values, along, moved, gradient):
            expected = own.jvp(row, None, direction, None, own.new(row))
            numpy.testing.assert_allclose(tangent, expected, atol=1e-10 * abs(expected).max())
            numpy.testing.assert_allclose(sums, own.vjp(row, None, tangent)[0], rtol=1e-9)
        room = there.plan.empty(len(NAMES))
        every = there.jacobian(values, None, lambda shape: room, memory.LEGACY_STREAM)
        found = own.jacobian(values, None, numpy.empty)
        there.plan.wait()
        self.assertEqual(every.shape, found.shape)
        numpy.testing.assert_allclose(room.numpy().reshape(found.shape), found,
                                      atol=1e-10 * abs(found).max())
        self.assertIsNone(own.jacobian(values[:2], None, numpy.empty))
        self.assertIsNone(own.jacobian(values + numpy.eye(4, 3), None, numpy.empty))

    def test_backgrounds(self):
        own, plan = plans()
        level = numpy.full(plan.shape, 3, plan.dtype)
        plan.set_background(Tensor(filled(plan, level)))
        own.set_background(level)
        numpy.testing.assert_allclose(plan.forward(plan.empty()).numpy(), own.forward(), **TOLERANCE)
        direction = dualbragg.Vector(values=numpy.array([0.1, 0, 0]), background=filled(plan, level))
        image, tangent = plan.jvp_all(direction, plan.empty(), plan.empty())
        _, expected = own.jvp_all(direction._replace(background=level))
        numpy.testing.assert_allclose(tangent.numpy(), expected, atol=1e-5 * abs(expected).max())
        self.assertEqual(plan.device_note, "")
        plan.vjp_all(image)
        self.assertEqual(plan.device_note, "sums by structure factors")

    def test_a_plan_that_has_moved_is_on_the_processor(self):
        own, plan = plans()
        room = plan.empty()
        with unittest.mock.patch.object(type(plan), "device", "cpu"):  # with "auto", once a GPU has failed
            self.assertEqual(plan.empty().__dlpack_device__(), (memory.CPU, 0))
            with self.assertRaisesRegex(dualbragg.UsageError, "out: expected memory of the processor, found"):
                plan.forward(room)
            numpy.testing.assert_allclose(plan.forward(), own.forward(), **TOLERANCE)

    def test_what_does_not_fit_is_refused(self):
        own, plan = plans()
        room = plan.empty()
        cases = (
            (Tensor(room, device=(2, 1)), "out: expected memory of the processor or of cuda:0, found memory of cuda:1"),
            (Tensor(room, device=(8, 0)), "found memory of device kind 8 of DLPack"),
            (Tensor(plan.empty(2)), r"out: expected the shape \(17, 24\), found \(2, 17, 24\)"),
            (Tensor(room, strides=(1, 17)), "out: expected elements in C order"),
            (plans(numpy.float64)[1].empty(), "out: expected float32, found float64"),
            (Tensor(room, error=BufferError("it requires gradients")), "found: it requires gradients"),
            ([1, 2], "out: expected a numpy array or a tensor with __dlpack__, found list"))
        for value, message in cases:
            with self.assertRaisesRegex(dualbragg.UsageError, message):
                plan.forward(value)
        with self.assertRaisesRegex(dualbragg.UsageError, "out: expected memory of the processor, found memory of cuda:0"):
            own.forward(Tensor(room))
        with self.assertRaisesRegex(dualbragg.UsageError, "share no memory"):
            plan.jvp(numpy.zeros(3), room, Tensor(room))
        with self.assertRaisesRegex(BufferError, "not copied"):
            room.__dlpack__(copy=True)


class Package(unittest.TestCase):
    """dualbragg-cuda13 beside a dualbragg without GPUs."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)

    def unpacked(self, module):
        """The wheel that is made of one of dualbragg with this module; why there is none."""
        given = self.folder / "dualbragg-1.2.3-cp39-abi3-linux_x86_64.whl"
        with zipfile.ZipFile(given, "w") as wheel:
            wheel.writestr("dualbragg/_dualbragg.abi3.so", module)
            wheel.writestr("dualbragg-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp39-abi3-linux_x86_64\n")
            wheel.writestr("dualbragg-1.2.3.dist-info/licenses/LICENSE", "MIT")
        made = subprocess.run([sys.executable, SOURCE / "packaging/wheel/cuda.py", given, self.folder],
                              capture_output=True, text=True)
        if made.returncode == 0:
            with zipfile.ZipFile(self.folder / "dualbragg_cuda13-1.2.3-cp39-abi3-linux_x86_64.whl") as wheel:
                wheel.extractall(self.folder / "site")
        return made.stderr

    def test_its_module_is_loaded(self):
        here = pathlib.Path(dualbragg.__file__).parent
        plain = here.parent.parent  # the build's package without GPUs; this one has the stand-in's
        if not lib.DB_PYTHON_CUDA or not list(plain.glob("dualbragg/_dualbragg*.so")):
            self.skipTest("both packages are needed, with GPUs and without")
        self.assertIn("DB_WITH_CUDA=ON", self.unpacked("neither"))
        self.assertEqual(self.unpacked("db_cuda_register"), "")
        site = self.folder / "site"
        info = site / "dualbragg_cuda13-1.2.3.dist-info"
        self.assertIn("Requires-Dist: dualbragg == 1.2.3", (info / "METADATA").read_text())
        self.assertEqual((info / "licenses/LICENSE").read_text(), "MIT")
        self.assertEqual(len((info / "RECORD").read_text().splitlines()), 6)
        module, = here.glob("_dualbragg*.so")
        (site / "dualbragg_cuda13/_dualbragg.abi3.so").unlink()
        (site / "dualbragg_cuda13/_dualbragg.abi3.so").symlink_to(module)

        def load():
            code = f"import dualbragg; print(dualbragg.Plan(dualbragg.Experiment(**{SCENE}), device='cuda').device)"
            paths = os.pathsep.join([str(plain), str(site)])
            return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": paths})

        found = load()
        self.assertEqual((found.stderr, found.stdout), ("", "cuda:0\n"))
        (site / "dualbragg-1.2.4.dist-info").mkdir()
        (site / "dualbragg-1.2.4.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: dualbragg\nVersion: 1.2.4\n")
        self.assertIn("dualbragg-cuda13: expected version 1.2.4, that of dualbragg, found 1.2.3", load().stderr)


if __name__ == "__main__":
    ending.main()
