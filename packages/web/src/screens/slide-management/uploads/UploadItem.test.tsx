import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { it } from 'vitest';
import { UploadItem } from './UploadItem.tsx';

/** The row of an upload of 700 MB, of which 100 MB are sent. */
const uploadRow = {
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

it('UploadItem shows the speed and remaining time of an upload, and neither of them when the speed is 0 or unknown', () => {
  const renderItem = (bytesPerSecond: number | null) => {
    cleanup();
    render(
      <MantineProvider env="test">
        <UploadItem row={{ ...uploadRow, bytesPerSecond }} isSettled />
      </MantineProvider>,
    );
  };
  renderItem(2_000_000); // 600 MB at 2 MB/s take 5 minutes
  screen.getByText('100 MB / 700 MB · 2 MB/sn · yaklaşık 5 dk kaldı');
  renderItem(20_000_000); // 30 seconds
  screen.getByText('100 MB / 700 MB · 20 MB/sn · bir dakikadan az kaldı');
  for (const noRate of [0, null]) {
    renderItem(noRate);
    screen.getByText('100 MB / 700 MB');
  }
});
