import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { it } from 'vitest';
import { UploadItem } from './UploadItem.tsx';

const line = {
  key: 'u1',
  dataset: 'Böbrek',
  path: 'half.svs',
  fileCount: 1,
  sizeBytes: 700_000_000,
  sentBytes: 100_000_000,
  bytesPerSecond: 2_000_000,
  sentFiles: 0,
  currentFile: null,
  state: 'Gönderiliyor',
  tone: 'calm',
  detail: null,
  actions: [],
  uploadId: 'u1',
} as const;

it('shows the speed of an upload and the remaining time while it is sent, and neither while it stands', () => {
  const show = (bytesPerSecond: number | null) => {
    cleanup();
    render(
      <MantineProvider env="test">
        <UploadItem line={{ ...line, bytesPerSecond }} />
      </MantineProvider>,
    );
  };
  show(2_000_000);
  screen.getByText('100 MB / 700 MB · 2 MB/sn · yaklaşık 5 dk kaldı');
  show(20_000_000);
  screen.getByText('100 MB / 700 MB · 20 MB/sn · bir dakikadan az kaldı');
  for (const standing of [0, null]) {
    show(standing);
    screen.getByText('100 MB / 700 MB');
  }
});
